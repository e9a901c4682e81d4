// Where the API is and who signs customers in: settings.json beside this page.

const answer = await fetch("settings.json", { cache: "no-cache" });
if (!answer.ok) throw new Error(`settings.json: the answer was ${answer.status}.`);
export const settings = await answer.json();
