// Installs and builds if needed, then starts a whole local stack, kills its processes under load, and checks that no
// acknowledged order, payment or webhook is lost. It touches nothing outside a temporary folder.
import { importBuilt, setUp } from './setup.mjs';

await setUp();
await importBuilt('packages/tools/acceptance/dist/chaos.js');
