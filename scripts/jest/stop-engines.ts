import { rmSync } from 'node:fs';
import type { PostgresServer } from '../../packages/engines/embedded-postgres/src/index.ts';

export default async () => {
  const { postgres, dataDir } = (globalThis as unknown as { engines: { postgres: PostgresServer; dataDir: string } })
    .engines;
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
};
