import { importBuilt, setUp } from './setup.mjs';

await setUp();
await importBuilt('packages/tools/mutation/dist/main.js');
