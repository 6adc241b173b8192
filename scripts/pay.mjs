import { setUp } from './setup.mjs';

await setUp();
await import('../packages/tools/acceptance/dist/pay.js');
