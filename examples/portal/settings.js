// Where the API is and who signs customers in: settings.json beside this page.

const answer = await fetch("settings.json", { cache: "no-cache" });
export const settings = await answer.json();
