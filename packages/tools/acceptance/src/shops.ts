import { installShop, isInstalled, SHOPS } from './shops/setup/installed.ts';

/** Installs the shops that are missing into a cache outside the checkout. */
export const installShops = (): void => SHOPS.forEach(installShop);

export const shopsAreInstalled = (): boolean => SHOPS.every(isInstalled);
