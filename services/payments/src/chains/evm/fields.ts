/** A value in an answer has another form than the specification says. */
export class InvalidValue extends Error {
  override readonly name = 'InvalidValue';
  /** Where it is in the answer, for example `logs.0.address`; empty for the answer itself. */
  readonly path: string;
  constructor(path: string) {
    super(`${path} is invalid`);
    this.path = path;
  }
}

/** A value of an answer in its form. Throws InvalidValue with this path. */
export type Read<T> = (value: unknown, path?: string) => T;

const HASH_DIGITS = 64;
const ADDRESS_DIGITS = 40;

/** Whether a text is `0x` and some of these digits. Twice as fast as a pattern: a block has thousands. */
const hexTest = (digits: string) => {
  const isDigit = new Uint8Array(0x1_00_00);
  for (const digit of digits) isDigit[digit.charCodeAt(0)] = 1;
  return (value: unknown, count: number): value is string => {
    if (typeof value !== 'string' || value.length !== count + 2 || !value.startsWith('0x')) return false;
    for (let at = 2; at < value.length; at += 1) if (isDigit[value.charCodeAt(at)] !== 1) return false;
    return true;
  };
};
const isLowerCaseHex = hexTest('0123456789abcdef');
const isHex = hexTest('0123456789abcdefABCDEF');

export const textIn: Read<string> = (value, path = '') => {
  if (typeof value !== 'string') throw new InvalidValue(path);
  return value;
};
export const hashIn: Read<string> = (value, path = '') => {
  if (!isLowerCaseHex(value, HASH_DIGITS)) throw new InvalidValue(path);
  return value;
};
/** In lower case, as most nodes write it. */
export const addressIn: Read<string> = (value, path = '') => {
  if (isLowerCaseHex(value, ADDRESS_DIGITS)) return value;
  if (!isHex(value, ADDRESS_DIGITS)) throw new InvalidValue(path);
  return value.toLowerCase();
};
const matching =
  (pattern: RegExp): Read<string> =>
  (value, path = '') => {
    if (typeof value !== 'string' || !pattern.test(value)) throw new InvalidValue(path);
    return value;
  };
export const bytesIn = matching(/^0x([0-9a-fA-F]{2})*$/);
// Quantities are hex text, never JSON numbers. Source: Ethereum JSON-RPC specification, "Hex encoding".
export const quantityTextIn = matching(/^0x[0-9a-f]{1,64}$/);
export const quantityIn: Read<bigint> = (value, path) => BigInt(quantityTextIn(value, path));
export const smallQuantityIn: Read<number> = (value, path = '') => {
  const number = Number(quantityTextIn(value, path));
  if (!Number.isSafeInteger(number)) throw new InvalidValue(path);
  return number;
};

export const optional = <T>(read: Read<T>, value: unknown, path: string): T | undefined =>
  value === undefined ? undefined : read(value, path);
export const nullish = <T>(read: Read<T>, value: unknown, path: string): T | null | undefined =>
  value === undefined || value === null ? value : read(value, path);

/** The fields of an object. */
export const fieldsIn: Read<Readonly<Record<string, unknown>>> = (value, path = '') => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new InvalidValue(path);
  return value as Readonly<Record<string, unknown>>;
};

export const itemsIn: Read<readonly unknown[]> = (value, path = '') => {
  if (!Array.isArray(value)) throw new InvalidValue(path);
  return value;
};

/** A list whose items `read` checks. */
export const listOf =
  <T>(read: Read<T>): Read<T[]> =>
  (value, path = '') =>
    itemsIn(value, path).map((item, index) => {
      try {
        return read(item);
      } catch (error) {
        if (!(error instanceof InvalidValue)) throw error;
        throw new InvalidValue([path, index, error.path].filter((part) => part !== '').join('.'));
      }
    });
