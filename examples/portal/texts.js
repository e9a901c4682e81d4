// The page's own words. What the CRM calls its columns and options, the API says in the same language.

const TEXTS = {
  en: {
    lcid: 1033, portal: "Customer portal", articles: "Help", myCases: "My cases", companyCases: "My company", newCase: "Report a problem",
    profile: "Profile", signIn: "Sign in", signOut: "Sign out", userName: "User name", password: "Password",
    signInWords: "See your cases, report a problem and keep your profile up to date.",
    signInThere: "Go on to sign in", signedOut: "You are signed out. Sign in to go on.", skip: "Skip to the content",
    articlesWords: "Answers to what customers ask most. No need to sign in.", search: "Search", searchTitle: "Words of the title", find: "Find",
    noArticles: "No article has these words in its title.", loading: "Loading…",
    all: "All", open: "Open", solved: "Solved", cancelled: "Cancelled", state: "State",
    noCases: "There are no cases here yet.", noCasesFound: "No case fits.", more: "Show more", shown: "{0} of {1}",
    number: "Number", title: "Title", priority: "Priority", status: "Status", created: "Created", changed: "Changed", customer: "Customer",
    noNumber: "—", companyWords: "The latest cases of {0} and of everybody who works there.", noDescription: "No description was given.",
    description: "Description", attachments: "Attachments", noAttachments: "Nothing is attached.", attach: "Attach a file",
    attachHint: "PDF, Word, PNG, JPG or text, up to 10 MB.", send: "Send", sending: "Sending {0} …", attached: "{0} is attached.", getFile: "Download {0}",
    close: "Close case", closeQuestion: "Close this case?", closeWords: "A closed case cannot be changed any more.", resolution: "What solved it? (optional)",
    back: "Back", closed: "The case is closed.", newWords: "Tell us what happened. You can attach files afterwards.", report: "Report", reported: "Thank you. We have your case.",
    save: "Save", saved: "Your profile is saved.", unchanged: "Nothing was changed.", profileWords: "So that we can reach you.",
    emailWords: "E-mail {0}. Ask us to change it.", missing: "There is nothing here that you can see.", toCases: "All my cases", failed: "That did not work", retry: "Try again",
    unreachable: "The service cannot be reached. Check your connection, then try again.",
    check: "Check the marked fields.", required: "required",
  },
  de: {
    lcid: 1031, portal: "Kundenportal", articles: "Hilfe", myCases: "Meine Anfragen", companyCases: "Meine Firma", newCase: "Problem melden",
    profile: "Profil", signIn: "Anmelden", signOut: "Abmelden", userName: "Benutzername", password: "Kennwort",
    signInWords: "Sehen Sie Ihre Anfragen, melden Sie ein Problem und halten Sie Ihr Profil aktuell.",
    signInThere: "Weiter zur Anmeldung", signedOut: "Sie sind abgemeldet. Melden Sie sich an, um fortzufahren.", skip: "Zum Inhalt springen",
    articlesWords: "Antworten auf häufige Fragen. Ohne Anmeldung.", search: "Suchen", searchTitle: "Wörter des Titels", find: "Suchen",
    noArticles: "Kein Artikel hat diese Wörter im Titel.", loading: "Wird geladen …",
    all: "Alle", open: "Offen", solved: "Gelöst", cancelled: "Abgebrochen", state: "Zustand",
    noCases: "Hier gibt es noch keine Anfragen.", noCasesFound: "Keine Anfrage passt.", more: "Mehr anzeigen", shown: "{0} von {1}",
    number: "Nummer", title: "Titel", priority: "Priorität", status: "Status", created: "Erstellt", changed: "Geändert", customer: "Kunde",
    noNumber: "—", companyWords: "Die neuesten Anfragen von {0} und allen, die dort arbeiten.", noDescription: "Es gibt keine Beschreibung.",
    description: "Beschreibung", attachments: "Anhänge", noAttachments: "Es gibt keine Anhänge.", attach: "Datei anhängen",
    attachHint: "PDF, Word, PNG, JPG oder Text, bis 10 MB.", send: "Senden", sending: "{0} wird gesendet …", attached: "{0} ist angehängt.", getFile: "{0} herunterladen",
    close: "Anfrage schließen", closeQuestion: "Diese Anfrage schließen?", closeWords: "Eine geschlossene Anfrage lässt sich nicht mehr ändern.", resolution: "Was hat geholfen? (freiwillig)",
    back: "Zurück", closed: "Die Anfrage ist geschlossen.", newWords: "Beschreiben Sie, was geschehen ist. Dateien können Sie danach anhängen.", report: "Melden", reported: "Vielen Dank. Ihre Anfrage ist bei uns.",
    save: "Speichern", saved: "Ihr Profil ist gespeichert.", unchanged: "Es wurde nichts geändert.", profileWords: "Damit wir Sie erreichen.",
    emailWords: "E-Mail {0}. Für eine Änderung wenden Sie sich an uns.", missing: "Hier gibt es nichts, das Sie sehen können.", toCases: "Alle meine Anfragen", failed: "Das hat nicht geklappt", retry: "Noch einmal versuchen",
    unreachable: "Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung, und versuchen Sie es noch einmal.",
    check: "Prüfen Sie die markierten Felder.", required: "Pflichtfeld",
  },
};

const KEPT = "portal.language";
const wanted = localStorage.getItem(KEPT) ?? navigator.language.slice(0, 2);
let language = wanted in TEXTS ? wanted : "en";

export function chosen() {
  return language;
}

export function choose(name) {
  language = name;
  localStorage.setItem(KEPT, name);
}

// The text called `name`, with {0}, {1} … filled in.
export function say(name, ...given) {
  return String(TEXTS[language][name]).replace(/\{(\d)\}/g, (_, at) => given[at]);
}

export function lcid() {
  return TEXTS[language].lcid;
}

export function day(time) {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium" }).format(new Date(time));
}

export function size(bytes) {
  const [amount, unit] = bytes < 1000 ? [bytes, "byte"] : bytes < 1e6 ? [bytes / 1e3, "kilobyte"] : [bytes / 1e6, "megabyte"];
  const unitDisplay = unit === "byte" ? "long" : "short";
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay, maximumFractionDigits: 1 }).format(amount);
}
