import { createHash } from 'node:crypto';
import { invalidRequest, isAppError } from '@cpg/contracts';
import type { SharpOptions } from 'sharp';

/** A re-encoded logo and the SHA-256 of its bytes, in hexadecimal. */
export interface StoredLogo {
  readonly png: Buffer;
  readonly hash: string;
}

export const MAX_PNG_BYTES = 100 * 1024;
const MAX_SIDE_PIXELS = 8_192;
const MAX_PIXELS = 16_000_000;

/** Longest sides of the stored logo, in pixels; the smallest always fits. */
const SIDES = [384, 256, 192, 144];

const INPUT: SharpOptions = { limitInputPixels: MAX_PIXELS, failOn: 'error', pages: 1 };

/** Encodes an image again as a PNG without its metadata; throws `invalid_request`. */
export const encodeLogo = async (image: Buffer): Promise<StoredLogo> => {
  const sharp = await loadSharp();
  try {
    const { width, height } = await sharp(image, INPUT).metadata();
    if (Math.max(width, height) > MAX_SIDE_PIXELS || width * height > MAX_PIXELS) throw refused(TOO_LARGE);
    for (const side of SIDES) {
      const png = await sharp(image, INPUT)
        .timeout({ seconds: 5 })
        .autoOrient()
        .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
        .toColourspace('srgb')
        .png({ compressionLevel: 9 })
        .toBuffer();
      if (png.length <= MAX_PNG_BYTES) return { png, hash: createHash('sha256').update(png).digest('hex') };
    }
  } catch (error) {
    throw isAppError(error) ? error : refused('must be a PNG, JPEG or WebP image');
  }
  throw refused(TOO_LARGE);
};

const TOO_LARGE = `must have at most ${MAX_PIXELS / 1_000_000} million pixels and no side over ${MAX_SIDE_PIXELS}`;

const refused = (message: string) => invalidRequest([{ path: 'logo', message }]);

/** Loaded at the first logo, and limited to the formats of logos. */
const loadSharp = async () => {
  const { default: sharp } = await import('sharp');
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({
    operation: ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'],
  });
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
};
