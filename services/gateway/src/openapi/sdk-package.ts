import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';

/** The client for merchants (`packages/sdk`) as a file that `npm install` accepts. */
export interface SdkPackage {
  /** `cpg-sdk-0.1.0.tgz` */
  readonly file: string;
  readonly content: Buffer;
}

/** The package in a folder, where the build of the gateway puts it. */
export const readSdkPackage = (folder: string): SdkPackage => {
  const file = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (file === undefined) throw new Error(`${folder} has no package of the client: run \`pnpm build\``);
  return { file, content: readFileSync(join(folder, file)) };
};

/** Serves the package at `/sdk/<name>-<version>.tgz`. */
export const serveSdkPackage = (app: FastifyInstance, { file, content }: SdkPackage): void => {
  app.get(`/sdk/${file}`, { schema: { hide: true }, compress: false }, async (_, reply) =>
    reply.headers({ 'content-type': 'application/gzip', 'cache-control': 'no-cache' }).send(content),
  );
};
