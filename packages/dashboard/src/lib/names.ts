import type { ApiKey, User } from '@cpg/sdk';

export const nameOfUser = (user: User): string => user.name ?? user.email;
export const nameOfKey = (key: ApiKey): string => key.label ?? `${key.prefix}…`;
