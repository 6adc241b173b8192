import { monotonicFactory } from 'ulid';

const ulid = monotonicFactory();

/** A new ULID for the ids of what one request makes (`ord_<seed>`, `whk_<seed>`); later ones of this process sort after earlier ones. */
export const newSeed = (): string => ulid();
