import { z } from 'zod';

/** A name of the IANA time zone database. */
export const Timezone = z
  .string()
  .refine(isTimezone, { error: 'must be a time zone, like UTC or America/Mexico_City' });

/** Also refuses the offsets that JavaScript accepts: PostgreSQL reads their sign the other way round. */
function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
