import { newUlid } from '@cpg/runtime';

/** A new ULID for the ids of what one request makes (`ord_<seed>`, `whk_<seed>`). */
export const newSeed = (): string => newUlid();
