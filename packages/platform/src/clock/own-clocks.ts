/** The wall clock, for what is stored, signed or shown. It jumps when somebody sets it, so a duration is measured by
 *  `performance.now()`, which never does: it is the default of each option `nowMs`. */
export const wallClock = (): Date => new Date();

/** The wall clock as Unix milliseconds. */
export const wallClockMs = (): number => Date.now();
