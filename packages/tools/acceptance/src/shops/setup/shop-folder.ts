import { cpSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesOf, installationOf, type ShopName } from './installed.ts';

/** Makes a folder as the merchant's own would be: the files of the shop, its packages and, if there is one, the plugin.
 *  `plugin` is the folder of its unpacked file. */
export const makeShopFolder = (shop: ShopName, plugin?: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `cpg-${shop}-`));
  cpSync(filesOf(shop), folder, { recursive: true });
  const modules = join(installationOf(shop), 'node_modules');
  // Links, because the packages are large. The plugin is a copy: it finds the packages of the shop by its own path.
  for (const path of packagesIn(modules)) symlinkSync(join(modules, path), linkIn(folder, path));
  if (plugin !== undefined) cpSync(plugin, linkIn(folder, `@cpg/${shop}-payments`), { recursive: true });
  return folder;
};

const packagesIn = (modules: string): string[] =>
  readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );

const linkIn = (folder: string, path: string): string => {
  const target = join(folder, 'node_modules', path);
  mkdirSync(join(target, '..'), { recursive: true });
  return target;
};
