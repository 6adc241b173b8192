import { setUp } from './setup.mjs';

await setUp();
await import('../packages/acceptance/dist/pay.js');
