import { importBuilt } from './setup.mjs';

/** The tests that sell in real shops. Two shops run at a time. */
export const SHOPS_RUN = ['--selectProjects', 'shops', '--maxWorkers=2'];

const built = () => importBuilt('packages/tools/acceptance/dist/shops.js');

/** Installs the shops that are missing into a cache outside the checkout. */
export const installShops = async () => (await built()).installShops();

/** @type {() => Promise<boolean>} */
export const shopsAreInstalled = async () => (await built()).shopsAreInstalled();
