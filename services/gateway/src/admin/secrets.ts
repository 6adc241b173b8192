import type { Pool } from '@cpg/platform/postgres';
import type { SecretBox } from '@cpg/platform';
import { pepperId } from '../door/keys/hash.ts';
import { countHashes } from '../door/keys/credentials.ts';
import { sealedResponses, type SealedRow, sealedWebhooks, updateSealed } from './sealed.ts';
import { AdminError } from './admin-error.ts';

export const SECRETS_USAGE = `  secrets status                                 count what still needs earlier keys and peppers
  secrets reseal                                 encrypt everything again with the first key of WEBHOOK_ENCRYPTION_KEY`;

export interface SecretsAdmin {
  readonly pool: Pool;
  readonly box: SecretBox;
  /** The first pepper. */
  readonly pepper: string;
}

/** Runs `secrets status` or `secrets reseal`. Safe to run again, and while services run: a row that changes meanwhile
 *  keeps its change. */
export const runSecretsCommand = async (args: readonly string[], admin: SecretsAdmin): Promise<string> => {
  const [verb, ...rest] = args;
  if ((verb !== 'status' && verb !== 'reseal') || rest.length > 0) throw new AdminError(SECRETS_USAGE);
  const resealed = verb === 'reseal' ? await reseal(admin) : 0;
  const rows = await sealedRows(admin.pool);
  const outdated = rows.filter(({ boxes }) => !boxes.every(admin.box.isCurrent));
  const keys = await countHashes(admin.pool, pepperId(admin.pepper));
  return [
    ...(verb === 'reseal' ? [`encrypted again: ${resealed}`] : []),
    `not encrypted with the first key: ${outdated.length} of ${rows.length}${outdated.length > 0 ? `, first ${outdated[0]!.name}` : ''}`,
    `active API keys not hashed with the first pepper: ${keys.outdated} of ${keys.all}`,
  ].join('\n');
};

const sealedRows = async (pool: Pool): Promise<SealedRow[]> => [
  ...(await sealedWebhooks(pool)),
  ...(await sealedResponses(pool)),
];

/** Returns how many rows were encrypted again. */
const reseal = async ({ pool, box }: SecretsAdmin): Promise<number> => {
  let changed = 0;
  for (const row of await sealedRows(pool)) {
    if (row.boxes.every(box.isCurrent)) continue;
    const fresh = row.boxes.map((sealed) =>
      box.isCurrent(sealed) ? sealed : box.seal(opened(row, sealed, box), row.row),
    );
    if (await updateSealed(pool, row, fresh)) changed += 1;
  }
  return changed;
};

const opened = ({ name, row }: SealedRow, sealed: string, box: SecretBox): string => {
  try {
    return box.open(sealed, row);
  } catch (cause) {
    throw new AdminError(
      `cannot decrypt ${name}: ${(cause as Error).message}: add that key to WEBHOOK_ENCRYPTION_KEY`,
      {
        cause,
      },
    );
  }
};
