import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { encodeBody, type EncodedBody } from '../door/responses/compression.ts';

/** A file of the dashboard. */
interface DashboardFile {
  readonly type: string;
  readonly body: Buffer;
  /** Whether its name changes with its content. */
  readonly isHashed: boolean;
  /** Compressed at the first call, so that no start waits for it. */
  readonly encoded: () => Promise<EncodedBody>;
}

/** The dashboard of merchants, as `packages/dashboard` is built. */
export interface Dashboard {
  /** The page, with NONCE in the place of the nonce of its style sheets. */
  readonly page: string;
  /** The other files by their path below `/dashboard/`. */
  readonly files: ReadonlyMap<string, DashboardFile>;
}

/** Stands in the built page for the nonce: `html.cspNonce` of packages/dashboard/vite.config.ts. */
export const NONCE = 'STYLE-NONCE';

const PAGE = 'index.html';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** The files of a folder. They are all in memory, so no path of a request ever reaches the file system. */
export const readDashboard = (folder: string): Dashboard => {
  const files = new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length).split(sep).filter(Boolean).join('/'), fileOf(path)]),
  );
  const page = files.get(PAGE);
  if (!page) throw new Error(`${folder} has no ${PAGE}: run \`pnpm build\``);
  files.delete(PAGE);
  return { page: page.body.toString('utf8'), files };
};

const fileOf = (path: string): DashboardFile => {
  const body = readFileSync(path);
  let encoded: Promise<EncodedBody> | undefined;
  return {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    body,
    isHashed: path.includes(`${sep}assets${sep}`),
    encoded: () => (encoded ??= encodeBody(body)),
  };
};
