import type { ApiKey, User } from '@cpg/sdk';
import { shorten } from './ids.ts';

/** Those whose names a page shows. */
export interface Named {
  readonly users: readonly User[];
  readonly keys: readonly ApiKey[];
}

export const nameOfUser = (user: User): string => user.name ?? user.email;
export const nameOfKey = (key: ApiKey): string => key.label ?? `${key.prefix}…`;

/** The name of the user or the API key with an id, or the id shortened. */
export const nameOf = (id: string, { users, keys }: Named): string => {
  const user = users.find((each) => each.id === id);
  if (user) return nameOfUser(user);
  const key = keys.find((each) => each.id === id);
  return key ? nameOfKey(key) : shorten(id);
};
