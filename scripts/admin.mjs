import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CHECKOUT, setUp } from './setup.mjs';

await setUp();
if (!process.env.DATABASE_URL) {
  // What "npm start" gave its services last, in its data folder; the caller's own variables go over it.
  const file = join(resolve(CHECKOUT, process.env.DATA_DIR || '.data'), 'environment.json');
  if (!existsSync(file)) {
    process.stderr.write(`there is no ${file}: run "npm start" first, or set DATABASE_URL\n`);
    process.exit(1);
  }
  for (const [name, value] of Object.entries(JSON.parse(readFileSync(file, 'utf8')))) process.env[name] ||= value;
}
await import('../services/gateway/dist/admin.js');
