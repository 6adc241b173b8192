export { type Decider, fold, unreachable } from './decider.ts';
export { AppError, ERROR_CODES, type ErrorCode, type FaultDetail, isAppError } from './errors.ts';
export { givenFor } from './testing/given.ts';
