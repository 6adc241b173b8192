import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const BARE_PAGES = fileURLToPath(new URL('./bare-pages.js', import.meta.url));

export interface Server {
  readonly url: string;
  readonly pid: number;
}

/** Fastify in a process of its own, with `page` as the constant page of every order. */
export const withBareServer = async <T>(page: string, measure: (server: Server) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'cpg-bare-pages-'));
  const file = join(folder, 'page.html');
  writeFileSync(file, page);
  const server = spawn(process.execPath, [BARE_PAGES, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
    return await measure({ url: `http://127.0.0.1:${port}`, pid: server.pid! });
  } finally {
    server.kill();
    rmSync(folder, { recursive: true });
  }
};
