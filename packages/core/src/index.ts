export { wallClock, wallClockMs } from './clock.ts';
export { type Decider, fold, ignoreUnknownEvent } from './decider.ts';
export { unreachable } from './unreachable.ts';
export { ERROR_TEXTS, type ErrorText } from './error-texts.ts';
export {
  AppError,
  ERROR_CODES,
  type ErrorCode,
  type FaultDetail,
  invalidRequest,
  isAppError,
  isTemporary,
  MAX_FAULT_DETAILS,
  nullIfNotFound,
  outcomeUnknown,
} from './errors.ts';
export { groupBy } from './group-by.ts';
export { oncePerObject } from './once-per-object.ts';
export { givenFor } from './testing/given.ts';
