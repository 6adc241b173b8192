import { conclude, runJest } from './jest-runs.mjs';
import { setUp } from './setup.mjs';
import { installShops, SHOPS_RUN } from './shops.mjs';

await setUp();
await installShops();
conclude(await runJest([SHOPS_RUN], process.argv.slice(2)));
