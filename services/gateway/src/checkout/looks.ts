import { AppError } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { logoByHash } from '../api/payment-page/payment-page-settings.ts';
import { accentStyles } from './view/accent.ts';

const LOGO_FILE = /^([\da-f]{64})\.png$/;
const ACCENT_FILE = /^([\da-f]{6})\.css$/;

/** The path of the style sheet with an accent like `#0a7d5c`. */
export const accentPath = (color: string): string => `/pay/accents/${color.slice(1)}.css`;

interface File {
  readonly file: string;
}

/** Serves logos and accents, whose paths name their content. */
export const serveLooks = (app: FastifyInstance, { pool }: { readonly pool: Pool }): void => {
  app.get<{ Params: File }>('/pay/logos/:file', { schema: { hide: true } }, async ({ params }, reply) => {
    const png = await logoByHash(pool, nameIn(params.file, LOGO_FILE));
    if (!png) throw noSuchFile();
    return cached(reply).type('image/png').send(png);
  });
  app.get<{ Params: File }>('/pay/accents/:file', { schema: { hide: true } }, async ({ params }, reply) => {
    const color = nameIn(params.file, ACCENT_FILE);
    return cached(reply)
      .type('text/css; charset=utf-8')
      .send(accentStyles(`#${color}`));
  });
};

const nameIn = (file: string, pattern: RegExp): string => {
  const name = pattern.exec(file)?.[1];
  if (name === undefined) throw noSuchFile();
  return name;
};

const noSuchFile = () => new AppError('not_found', 'there is no such file');

const cached = (reply: FastifyReply) => reply.header('cache-control', 'public, max-age=31536000, immutable');
