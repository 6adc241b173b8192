import type { FaultDetail } from '@cpg/contracts';
import { isBlockWithin } from '@cpg/platform';
import type { Credential } from '../../door/keys/credentials.ts';

/** What a key may do, from which addresses (none: from everywhere), and until when (null: without end). */
export type Permissions = Pick<Credential, 'scopes' | 'allowed_ips' | 'expires_at'>;

/** What `wanted` permits beyond `own`. A key makes no key that may do more than itself: otherwise a leaked key would
 *  yield a stronger one. */
export const excessOf = (wanted: Permissions, own: Permissions): FaultDetail[] => [
  ...scopeExcess(wanted, own),
  ...addressExcess(wanted, own),
  ...expiryExcess(wanted, own),
];

const scopeExcess = (wanted: Permissions, own: Permissions): FaultDetail[] => {
  const missing = wanted.scopes.filter((scope) => !own.scopes.includes(scope));
  return missing.length > 0 ? [{ path: 'scopes', message: `your key does not have ${missing.join(', ')}` }] : [];
};

const addressExcess = ({ allowed_ips: wanted }: Permissions, { allowed_ips: own }: Permissions): FaultDetail[] => {
  const isWithin = (block: string) => own.some((outer) => isBlockWithin(block, outer));
  if (own.length === 0 || (wanted.length > 0 && wanted.every(isWithin))) return [];
  return [{ path: 'allowed_ips', message: `must be within the addresses of your key: ${own.join(', ')}` }];
};

const expiryExcess = ({ expires_at: wanted }: Permissions, { expires_at: own }: Permissions): FaultDetail[] =>
  own === null || (wanted !== null && wanted <= own)
    ? []
    : [{ path: 'expires_at', message: `must not be after ${own.toISOString()}, when your key expires` }];
