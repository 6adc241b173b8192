import { rmSync } from 'node:fs';
import type { PostgresServer } from '@cpg/embedded-postgres';

export default async () => {
  const { postgres, dataDir } = (globalThis as unknown as { engines: { postgres: PostgresServer; dataDir: string } })
    .engines;
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
};
