import { createHash } from 'node:crypto';
import {
  invalidRequest,
  isAppError,
  MAX_LOGO_BYTES,
  type Merchant,
  type PaymentPageSettings,
  type PaymentPageSettingsDto,
} from '@cpg/contracts';
import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import type { SharpOptions } from 'sharp';
import { type Change, changedFields, recordIfChanged } from '../../audit/record-change.ts';
import { lockMerchant } from '../merchants/merchant-queries.ts';
import { checkBrowserUrl } from '../merchant-urls.ts';

/** The settings that a merchant chose. */
interface ChosenSettings {
  readonly displayName: string | undefined;
  readonly accentColor: string | undefined;
  readonly contact: string | undefined;
  readonly frameAncestors: readonly string[];
  /** Undefined keeps the stored logo, null removes it. */
  readonly logo: StoredLogo | null | undefined;
}

export interface SettingsRow extends Pick<Merchant, 'business_profile' | 'individual_profile'> {
  readonly display_name: string | null;
  readonly accent_color: string | null;
  readonly contact: string | null;
  readonly frame_ancestors: string[] | null;
  readonly logo_hash: string | null;
  readonly updated_at: Date | null;
}

/** The columns of a SettingsRow: of a merchant `m`, and of its settings `s`. */
export const SETTINGS_COLUMNS = `m.business_profile, m.individual_profile,
  s.display_name, s.accent_color, s.contact, s.frame_ancestors, s.logo_hash, s.updated_at`;

/** Null if there is no such merchant. */
export const paymentPageSettings = async (db: Queryable, merchantId: string): Promise<PaymentPageSettings | null> => {
  const { rows } = await db.query<SettingsRow>(
    `select ${SETTINGS_COLUMNS}
       from gateway.merchants m left join gateway.payment_page_settings s on s.merchant_id = m.id
      where m.id = $1`,
    [merchantId],
  );
  return rows[0] ? settingsFromRow(rows[0]) : null;
};

const storePaymentPageSettings = async (
  db: Queryable,
  merchantId: string,
  { displayName, accentColor, contact, frameAncestors, logo }: ChosenSettings,
  at: Date,
): Promise<void> => {
  await db.query(
    `insert into gateway.payment_page_settings as stored
       (merchant_id, display_name, accent_color, frame_ancestors, updated_at, logo, logo_hash, contact)
     values ($1, $2, $3, $4, $5, $6, $7, $9)
     on conflict (merchant_id) do update set
       display_name = excluded.display_name, accent_color = excluded.accent_color, contact = excluded.contact,
       frame_ancestors = excluded.frame_ancestors, updated_at = excluded.updated_at,
       logo = case when $8 then stored.logo else excluded.logo end,
       logo_hash = case when $8 then stored.logo_hash else excluded.logo_hash end`,
    [
      ...[merchantId, displayName ?? null, accentColor ?? null, frameAncestors, at],
      ...[logo?.png ?? null, logo?.hash ?? null, logo === undefined, contact ?? null],
    ],
  );
};

/** The logo with this hash, which a merchant uses now. */
export const logoByHash = async (db: Queryable, hash: string): Promise<Buffer | null> => {
  const { rows } = await db.query<{ logo: Buffer }>(
    'select logo from gateway.payment_page_settings where logo_hash = $1 limit 1',
    [hash],
  );
  return rows[0]?.logo ?? null;
};

export const settingsFromRow = (row: SettingsRow): PaymentPageSettings => ({
  display_name: row.display_name ?? profileName(row),
  ...(row.accent_color !== null && { accent_color: row.accent_color }),
  ...(row.contact !== null && { contact: row.contact }),
  ...(row.logo_hash !== null && { logo_url: `/pay/logos/${row.logo_hash}.png` }),
  frame_ancestors: row.frame_ancestors ?? [],
  ...(row.updated_at && { updated_at: row.updated_at.toISOString() }),
});

/** The name of a merchant's profile. */
export const profileName = ({
  business_profile,
  individual_profile,
}: Pick<Merchant, 'business_profile' | 'individual_profile'>): string =>
  business_profile?.business_name ?? `${individual_profile?.first_name} ${individual_profile?.last_name}`;

export interface ReplaceSettingsOptions {
  readonly pool: Pool;
  /** Whether pages of this machine may embed the payment page by http. */
  readonly allowLocalUrls: boolean;
  readonly change: Change;
}

/** Replaces the settings, except for an absent logo; null if there is no such merchant. */
export const replacePaymentPageSettings = async (
  merchantId: string,
  { display_name, accent_color, contact, logo, frame_ancestors = [] }: PaymentPageSettingsDto,
  { pool, allowLocalUrls, change }: ReplaceSettingsOptions,
): Promise<PaymentPageSettings | null> => {
  const frameAncestors = frame_ancestors.map((text, index) => originOf(text, index, allowLocalUrls));
  const settings = {
    displayName: display_name?.trim(),
    accentColor: accent_color?.toLowerCase(),
    contact: contact?.trim(),
    frameAncestors: [...new Set(frameAncestors)],
    logo: typeof logo === 'string' ? await encodeLogo(decode(logo)) : logo,
  };
  return transaction(pool, async (db) => {
    await lockMerchant(db, merchantId);
    const before = await paymentPageSettings(db, merchantId);
    if (!before) return null;
    await storePaymentPageSettings(db, merchantId, settings, change.at);
    const after = (await paymentPageSettings(db, merchantId))!;
    const changes = changedFields<PaymentPageSettings>(before, after, RECORDED);
    await recordIfChanged(db, { type: 'PaymentPageChanged', merchantId, subject: merchantId, changes }, change);
    return after;
  });
};

const RECORDED = ['display_name', 'accent_color', 'contact', 'logo_url', 'frame_ancestors'] as const;

const decode = (logo: string): Buffer => {
  const image = Buffer.from(logo, 'base64');
  if (image.length <= MAX_LOGO_BYTES) return image;
  throw invalidRequest([{ path: 'logo', message: `must be at most ${MAX_LOGO_BYTES / 1024} KiB` }]);
};

const originOf = (text: string, index: number, allowLocal: boolean): string => {
  const path = `frame_ancestors.${index}`;
  checkBrowserUrl(text, { path, allowLocal });
  const { origin, pathname, search } = new URL(text);
  // A host may have characters that end a source list of a Content-Security-Policy.
  if (pathname !== '/' || search !== '' || !/^https?:\/\/[a-z0-9.:[\]-]+$/.test(origin))
    throw invalidRequest([{ path, message: 'must be an origin, like https://shop.example' }]);
  return origin;
};

/** A re-encoded logo and the SHA-256 of its bytes, in hexadecimal. */
interface StoredLogo {
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
