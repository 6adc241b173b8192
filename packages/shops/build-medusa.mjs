import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundle } from './bundle.mjs';

// Builds packages/shops/medusa, the current folder, without Medusa, into the folders where Medusa looks for the parts
// of a plugin. All parts are in one file, so that they share the state of the process.
const OUT = join('.medusa', 'server', 'src');
const PARTS = {
  'providers/crypto/index': 'exports.default = plugin.provider;',
  'api/middlewares': 'exports.default = plugin.middlewares;',
  'api/crypto-payments/webhook/route': 'exports.POST = plugin.receiveWebhook;',
  'api/store/crypto-payments/coins/route': 'exports.GET = plugin.listCoins;',
  'jobs/crypto-payments': 'Object.assign(exports, plugin.job);',
};

rmSync(OUT, { recursive: true, force: true });
bundle({ outfile: join(OUT, 'plugin.js'), external: ['@medusajs/*'] });
for (const [part, code] of Object.entries(PARTS)) {
  const file = join(OUT, `${part}.js`);
  mkdirSync(dirname(file), { recursive: true });
  const up = '../'.repeat(part.split('/').length - 1);
  // Medusa takes the default export of a module for itself only where it is marked.
  writeFileSync(
    file,
    `Object.defineProperty(exports, '__esModule', { value: true });\nconst plugin = require('${up}plugin.js');\n${code}\n`,
  );
}
writeFileSync(join(OUT, 'package.json'), '{ "type": "commonjs" }\n');
