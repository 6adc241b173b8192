import { AppError } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { logoByHash } from '../api/payment-page/payment-page-settings.ts';

const LOGO_FILE = /^([\da-f]{64})\.png$/;
const ACCENT_FILE = /^([\da-f]{6})\.css$/;

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

export const noSuchFile = () => new AppError('not_found', 'there is no such file');

/** Lets browsers keep a file whose path names its content. */
export const cached = (reply: FastifyReply) => reply.header('cache-control', 'public, max-age=31536000, immutable');

/** The contrast that WCAG 2.2 AA asks for. */
export const MIN_CONTRAST = 4.5;

/** The background of the page that is nearest to the accents, per color scheme. */
export const BACKGROUNDS = { light: '#f3f4f6', dark: '#23272f' } as const;

/** An accent in both color schemes, with the color of text on it. */
export interface Accent {
  readonly light: string;
  readonly dark: string;
}

/** Changes the color in each scheme as little as its contrast needs. */
export const accentOf = (color: string): Accent => ({
  light: withContrast(color.toLowerCase(), BACKGROUNDS.light, BLACK),
  dark: withContrast(color.toLowerCase(), BACKGROUNDS.dark, WHITE),
});

/** A style sheet that sets the accent and the color of text on it. */
export const accentStyles = (color: string): string => {
  const { light, dark } = accentOf(color);
  const rule = (accent: string, text: string) => `:root{--accent:${accent};--on-accent:${text}}`;
  return `${rule(light, WHITE)}@media (prefers-color-scheme:dark){${rule(dark, BLACK)}}`;
};

/** The contrast ratio of WCAG 2.2: from 1 to 21. */
export const contrast = (one: string, other: string): number => {
  const [darker, brighter] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (brighter + 0.05) / (darker + 0.05);
};

const BLACK = '#000000';
const WHITE = '#ffffff';
const STEPS = 100;

const withContrast = (color: string, background: string, towards: string): string => {
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = mix(color, towards, step / STEPS);
    if (contrast(mixed, background) >= MIN_CONTRAST) return mixed;
  }
  return towards;
};

const mix = (color: string, other: string, part: number): string => {
  const others = channels(other);
  const mixed = channels(color).map((channel, index) => Math.round(channel + (others[index]! - channel) * part));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
};

const channels = (color: string): number[] => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));

/** The relative luminance of WCAG 2.2. */
const luminance = (color: string): number => {
  const [red, green, blue] = channels(color).map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
