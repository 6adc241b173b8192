/** The clock of the browser, the only one here. */
export const nowMs = (): number => Date.now();
