import type { ApiKey, ApiKeyPage, LoggedRequest, UserPage } from '@cpg/sdk';
import { shorten } from '../../lib/ids.ts';
import { nameOfKey, nameOfUser } from '../../lib/names.ts';
import { useOnce } from '../../queries.ts';
import { useAllowed } from '../../session.ts';

export interface RequestNames {
  readonly keys: readonly ApiKey[];
  /** The name of the key or the user that made a request, or a shortened id. */
  readonly authorOf: (request: LoggedRequest) => string;
}

/** The names of those who make requests, as far as the user may see them. */
export const useRequestNames = (): RequestNames => {
  const users = useOnce<UserPage>('/v1/users?limit=100', { enabled: useAllowed('readUsers') }).data?.items ?? [];
  const keys = useOnce<ApiKeyPage>('/v1/api-keys?limit=100', { enabled: useAllowed('readKeys') }).data?.items ?? [];
  const authorOf = ({ api_key_id, user_id }: LoggedRequest) => {
    const key = keys.find(({ id }) => id === api_key_id);
    const user = users.find(({ id }) => id === user_id);
    if (key) return nameOfKey(key);
    return user ? nameOfUser(user) : shorten(api_key_id ?? user_id ?? '');
  };
  return { keys, authorOf };
};
