import { importBuilt, setUp } from './setup.mjs';

await setUp();
await importBuilt('packages/tools/tamper/dist/main.js');
