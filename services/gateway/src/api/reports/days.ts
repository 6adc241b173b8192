/** When a day of a time zone starts, in SQL: both are expressions, the day a timestamp. Midnight itself may come twice,
 *  as in Havana when the clock goes back. */
export const startOfDay = (day: string, timezone: string): string =>
  `((${day} - interval '1 hour') at time zone ${timezone} + interval '1 hour')`;
