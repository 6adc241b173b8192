import { importBuilt, setUp } from './setup.mjs';

await setUp();
await importBuilt('packages/tools/local-stack/dist/reset.js');
