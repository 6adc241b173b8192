export { type Client, createClient, type RawMethods } from './client/client.ts';
export { ApiError, ConnectionError, type FaultDetail } from './client/errors.ts';
export type { List, Page, RawResponse, RequestOptions } from './client/methods.ts';
export type { ClientOptions } from './client/send.ts';
export type { ErrorCode, Methods } from './generated/methods.ts';
export type * from './generated/api.ts';
