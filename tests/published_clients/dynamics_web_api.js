// dynamics-web-api at its ordinary work: `node dynamics_web_api.js <server> <scenario>` ends with 0 when all is well.

const assert = require("node:assert/strict");
const { randomBytes, randomUUID } = require("node:crypto");
const { DynamicsWebApi } = require("dynamics-web-api");

const [server, scenario] = process.argv.slice(2);
const tag = randomBytes(4).toString("hex");
const CRM = "Microsoft.Dynamics.CRM.";

async function token() {
  const form = { grant_type: "client_credentials", client_id: "portico-demo", client_secret: "demo" };
  const answer = await fetch(`${server}/tenant/oauth2/v2.0/token`, {
    method: "POST",
    body: new URLSearchParams({ ...form, scope: `${server}/.default` }),
  });
  return (await answer.json()).access_token;
}

const api = new DynamicsWebApi({ serverUrl: server, dataApi: { version: "9.2" }, onTokenRefresh: token });

const account = (data) => api.create({ collection: "accounts", data: { name: `JS ${tag}`, ...data } });

async function contacts(id, count) {
  for (let number = 0; number < count; number++) {
    const data = { lastname: `${tag} ${number}`, "parentcustomerid_account@odata.bind": `accounts(${id})` };
    await api.create({ collection: "contacts", data });
  }
}

function label(text) {
  const type = `${CRM}LocalizedLabel`;
  const labels = [{ "@odata.type": type, Label: text, LanguageCode: 1033 }];
  return { "@odata.type": `${CRM}Label`, LocalizedLabels: labels };
}

const fetched = (count) =>
  `<fetch mapping="logical" count="${count}"><entity name="contact"><attribute name="lastname"/>` +
  `<order attribute="lastname"/><filter><condition attribute="lastname" operator="like" value="${tag}%"/>` +
  `</filter></entity></fetch>`;

const scenarios = {
  async records() {
    const id = await account({ accountnumber: `js-${tag}`, revenue: 12.5 });
    const key = { collection: "accounts", key: id };
    const found = await api.retrieve({ ...key, select: ["name", "createdon", "_ownerid_value"], includeAnnotations: "*" });
    assert.equal(found.name, `JS ${tag}`);
    assert.ok(found.createdon instanceof Date);
    assert.equal(found["_ownerid_value@Microsoft.Dynamics.CRM.lookuplogicalname"], "systemuser");
    const byKey = await api.retrieve({ collection: "accounts", key: `accountnumber='js-${tag}'`, select: ["name"] });
    assert.equal(byKey.accountid, id);
    await api.update({ ...key, data: { telephone1: "1" } });
    const changed = await api.update({ ...key, data: { fax: "2" }, returnRepresentation: true, select: ["fax", "telephone1"] });
    assert.deepEqual([changed.fax, changed.telephone1], ["2", "1"]);
    await api.updateSingleProperty({ ...key, fieldValuePair: { fax: "3" } });
    await api.deleteRecord({ ...key, property: "telephone1" });
    const left = await api.retrieve({ ...key, select: ["fax", "telephone1"] });
    assert.deepEqual([left.fax, left.telephone1], ["3", null]);
    assert.equal(await api.update({ ...key, data: { fax: "4" }, ifmatch: 'W/"1"' }), false);
    await api.deleteRecord(key);
    await assert.rejects(api.retrieve(key), { status: 404 });
  },

  async upserts() {
    const key = { collection: "accounts", key: randomUUID() };
    assert.equal(await api.upsert({ ...key, data: { name: tag }, ifmatch: "*" }), null);
    assert.equal(await api.upsert({ ...key, data: { name: tag } }), key.key);
    assert.equal(await api.upsert({ ...key, data: { name: "no" }, ifnonematch: "*" }), null);
    assert.equal((await api.retrieve({ ...key, select: ["name"] })).name, tag);
  },

  async queries() {
    const id = await account();
    await contacts(id, 12);
    const asked = { collection: "contacts", select: ["lastname"], filter: `startswith(lastname,'${tag}')` };
    const page = await api.retrieveMultiple({ ...asked, maxPageSize: 5, count: true, orderBy: ["lastname desc"] });
    assert.deepEqual([page.value.length, page.oDataCount], [5, 12]);
    assert.equal((await api.retrieveAll({ ...asked, maxPageSize: 5 })).value.length, 12);
    assert.equal(await api.count({ collection: "contacts", filter: asked.filter }), 12);
    const long = Array.from({ length: 150 }, (_, number) => `lastname eq '${tag} ${number}'`).join(" or ");
    assert.equal((await api.retrieveMultiple({ ...asked, filter: long })).value.length, 12);
    const expand = [{ property: "contact_customer_accounts", select: ["lastname"], orderBy: ["lastname"], top: 3 }];
    const tied = await api.retrieve({ collection: "accounts", key: id, select: ["name"], expand });
    assert.equal(tied.contact_customer_accounts.length, 3);
    const groups = await api.retrieveMultiple({
      collection: "contacts",
      apply: `filter(startswith(lastname,'${tag}'))/aggregate($count as many)`,
    });
    assert.equal(groups.value[0].many, 12);
  },

  async fetchxml() {
    await contacts(await account(), 12);
    const asked = { collection: "contacts", fetchXml: fetched(5), includeAnnotations: "*" };
    const first = await api.fetch(asked);
    const { cookie, nextPage } = first.PagingInfo;
    const second = await api.fetch({ ...asked, pageNumber: nextPage, pagingCookie: cookie });
    const names = [...first.value, ...second.value].map((row) => row.lastname);
    assert.equal(new Set(names).size, 10);
    assert.equal((await api.fetchAll(asked)).value.length, 12);
  },

  async ties() {
    const id = await account();
    const contact = await api.create({ collection: "contacts", data: { lastname: tag } });
    const from = { collection: "accounts", primaryKey: id };
    const to = { relatedCollection: "contacts", relatedKey: contact };
    const primary = async () =>
      (await api.retrieve({ collection: "accounts", key: id, select: ["_primarycontactid_value"] }))._primarycontactid_value;
    await api.associateSingleValued({ ...from, ...to, navigationProperty: "primarycontactid" });
    assert.equal(await primary(), contact);
    await api.disassociateSingleValued({ ...from, navigationProperty: "primarycontactid" });
    assert.equal(await primary(), null);
    await api.associate({ ...from, ...to, relationshipName: "contact_customer_accounts" });
    const count = () => api.count({ collection: "contacts", filter: `_parentcustomerid_value eq ${id}` });
    assert.equal(await count(), 1);
    await api.disassociate({ ...from, relatedKey: contact, relationshipName: "contact_customer_accounts" });
    assert.equal(await count(), 0);
  },

  async files() {
    const place = { collection: "accounts", key: await account(), property: "new_contract" };
    for (const size of [1000, 4 * 1024 * 1024, 8 * 1024 * 1024, 9_000_000]) {
      const data = Buffer.concat([Buffer.from("%PDF-1.4\n"), randomBytes(size - 9)]);
      await api.uploadFile({ ...place, fileName: `${size}.pdf`, data });
      const came = await api.downloadFile(place);
      assert.ok(Buffer.from(came.data).equals(data), `${size} bytes`);
      assert.equal(came.fileName, `${size}.pdf`);
    }
    await api.deleteRecord(place);
    await assert.rejects(api.downloadFile(place), { status: 404 });
  },

  async operations() {
    const id = await account();
    const who = await api.callFunction("WhoAmI");
    assert.match(who.UserId, /^[0-9a-f-]{36}$/);
    const echo = await api.callAction({ actionName: "new_Ping", action: { Message: "Hello" } });
    assert.equal(echo.Echo, "Hello");
    const approved = { collection: "accounts", key: id, actionName: `${CRM}new_Approve`, action: { Comment: "Fine" } };
    assert.equal((await api.callAction(approved)).Approved, true);
    const targets = [1, 2].map((number) => ({ "@odata.type": `${CRM}account`, name: `${tag} ${number}` }));
    const made = await api.callAction({ collection: "accounts", actionName: `${CRM}CreateMultiple`, action: { Targets: targets } });
    assert.equal(made.Ids.length, 2);
  },

  async batches() {
    const id = await account();
    api.startBatch();
    api.create({ collection: "accounts", data: { name: `B ${tag}` }, contentId: "1" });
    api.create({ collection: "contacts", data: { lastname: tag, "parentcustomerid_account@odata.bind": "$1" } });
    api.update({ collection: "accounts", key: id, data: { fax: "in a batch" } });
    const [made] = await api.executeBatch();
    assert.equal(await api.count({ collection: "contacts", filter: `_parentcustomerid_value eq ${made}` }), 1);
    api.startBatch();
    api.retrieve({ collection: "accounts", key: id, select: ["fax"], inChangeSet: false });
    api.retrieve({ collection: "accounts", key: randomUUID(), inChangeSet: false });
    api.retrieveMultiple({ collection: "accounts", filter: `contains(name,'B ${tag}')`, inChangeSet: false });
    const [read, missing, list] = await api.executeBatch({ continueOnError: true });
    assert.equal(read.fax, "in a batch");
    assert.equal(missing.status, 404);
    assert.equal(list.value.length, 1);
  },

  async tables() {
    const name = `new_Js${tag}`;
    const primary = { "@odata.type": `${CRM}StringAttributeMetadata`, SchemaName: "new_Name", IsPrimaryName: true, MaxLength: 100 };
    const key = await api.createEntity({
      data: {
        "@odata.type": `${CRM}EntityMetadata`,
        SchemaName: name,
        DisplayName: label("Wool"),
        DisplayCollectionName: label("Wools"),
        OwnershipType: "UserOwned",
        Attributes: [{ ...primary, DisplayName: label("Name"), RequiredLevel: { Value: "None" } }],
      },
    });
    const table = await api.retrieveEntity({ key });
    assert.ok(await api.updateEntity({ data: { ...table, DisplayName: label("Fleece") }, mergeLabels: true }));
    const options = [1, 2].map((Value) => ({ Value, Label: label(`Option ${Value}`) }));
    const choice = `${CRM}PicklistAttributeMetadata`;
    const attributeKey = await api.createAttribute({
      entityKey: key,
      data: {
        "@odata.type": choice,
        SchemaName: "new_Colour",
        DisplayName: label("Colour"),
        RequiredLevel: { Value: "None" },
        OptionSet: { "@odata.type": `${CRM}OptionSetMetadata`, IsGlobal: false, OptionSetType: "Picklist", Options: options },
      },
    });
    const read = { entityKey: key, castType: choice, select: ["LogicalName"], expand: [{ property: "OptionSet" }] };
    const { value } = await api.retrieveAttributes(read);
    assert.deepEqual(value.map((each) => each.OptionSet.Options.length), [2]);
    const attribute = await api.retrieveAttribute({ entityKey: key, attributeKey, castType: choice });
    attribute.DisplayName = label("Colours");
    await api.updateAttribute({ entityKey: key, data: attribute, castType: choice });
    const relationship = await api.createRelationship({
      data: {
        "@odata.type": `${CRM}OneToManyRelationshipMetadata`,
        SchemaName: `new_account_${tag}`,
        ReferencedEntity: "account",
        ReferencedAttribute: "accountid",
        ReferencingEntity: name.toLowerCase(),
        Lookup: { "@odata.type": `${CRM}LookupAttributeMetadata`, SchemaName: "new_AccountId", DisplayName: label("Account") },
      },
    });
    const record = { new_name: "x", new_colour: 2, "new_AccountId@odata.bind": `/accounts(${await account()})` };
    const made = await api.create({ collection: table.EntitySetName, data: record, returnRepresentation: true });
    assert.equal(made.new_colour, 2);
    assert.ok(await api.deleteRelationship({ key: relationship }));
    assert.match(String(await api.retrieveCsdlMetadata({})), new RegExp(`EntityType Name="${name.toLowerCase()}"`));
  },

  async choices() {
    const data = { Name: `new_choice${tag}`, DisplayName: label("Choice"), IsGlobal: true, OptionSetType: "Picklist" };
    const Options = [{ Value: 100000000, Label: label("A") }];
    const type = `${CRM}OptionSetMetadata`;
    const key = await api.createGlobalOptionSet({ data: { "@odata.type": type, ...data, Options } });
    const action = { OptionSetName: data.Name, Value: 100000001, Label: label("B") };
    assert.equal((await api.callAction({ actionName: "InsertOptionValue", action })).NewOptionValue, 100000001);
    const found = await api.retrieveGlobalOptionSet({ key: `Name='${data.Name}'`, castType: type });
    assert.deepEqual(found.Options.map((option) => option.Label.LocalizedLabels[0].Label), ["A", "B"]);
    found.DisplayName = label("Renamed");
    await api.updateGlobalOptionSet({ data: found, castType: type });
    await api.deleteGlobalOptionSet({ key });
    await assert.rejects(api.retrieveGlobalOptionSet({ key }), { status: 404 });
  },
};

scenarios[scenario]().catch((error) => {
  console.error(error);
  process.exit(1);
});
