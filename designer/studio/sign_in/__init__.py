"""Signing in to the studio at an identity provider, by OpenID Connect.

The pages are in `designer.studio.pages.signing_in`. What happens, in order:

    pending_sign_ins.py      what the browser must bring back: state, nonce, verifier, where it was going
    provider.py              the provider that the settings name
    provider_requests.py     requests to it, guarded
    provider_documents.py    its configuration and keys
    code_flow.py             the authorization code flow: the address to sign in at, the checked ID token
    claimed_groups.py        the groups of the studio that the claims stand for
    accounts.py              the account of a subject, made when it first comes
"""
