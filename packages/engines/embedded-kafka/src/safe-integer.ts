const MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** The 64-bit integer as a number, clamped to the safe integers. No valid offset or timestamp exceeds them. */
export const safeInteger = (value: bigint): number => Number(value > MAX ? MAX : value < -MAX ? -MAX : value);
