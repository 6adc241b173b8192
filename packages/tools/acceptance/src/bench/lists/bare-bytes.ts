import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';

const BARE_PAGES = fileURLToPath(new URL('./bare-pages.js', import.meta.url));

export interface BareBytes {
  /** Sets the page that `read` gets. */
  readonly put: (page: string) => Promise<void>;
  readonly read: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** A server that only sends the bytes of a page. */
export const bareBytes = async (): Promise<BareBytes> => {
  const server = spawn(process.execPath, [BARE_PAGES], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
  const http = new Pool(`http://127.0.0.1:${port}`, { connections: 1, pipelining: 1 });
  return {
    put: async (page) => (await http.request({ method: 'PUT', path: '/', body: page })).body.dump(),
    read: async () => (await http.request({ method: 'GET', path: '/' })).body.text(),
    close: async () => {
      await http.close();
      server.kill();
    },
  };
};
