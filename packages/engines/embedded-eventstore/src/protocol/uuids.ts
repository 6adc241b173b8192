import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import { invalid } from '../refusals.ts';

/** The two wire forms of a UUID: as text, or as two 64-bit integers. */
export type UuidForm = 'string' | 'structured';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Reads either form. Throws `invalid` for a value that is not a UUID. */
export const uuidOf = (uuid: sharedPb.UUID | undefined): string => {
  const text = uuid?.hasStructured() ? fromHalves(uuid.getStructured()!) : (uuid?.getString() ?? '');
  if (!UUID.test(text)) throw invalid(`'${text}' is not a UUID`);
  return text.toLowerCase();
};

export const uuidMessage = (id: string, form: UuidForm): sharedPb.UUID => {
  const uuid = new sharedPb.UUID();
  if (form === 'string') {
    uuid.setString(id);
    return uuid;
  }
  const hex = id.replaceAll('-', '');
  const half = (digits: string) => String(BigInt.asIntN(64, BigInt(`0x${digits}`)));
  const halves = new sharedPb.UUID.Structured();
  halves.setMostSignificantBits(half(hex.slice(0, 16)));
  halves.setLeastSignificantBits(half(hex.slice(16)));
  uuid.setStructured(halves);
  return uuid;
};

const fromHalves = (halves: sharedPb.UUID.Structured): string => {
  const half = (value: string) => BigInt.asUintN(64, BigInt(value)).toString(16).padStart(16, '0');
  const hex = half(halves.getMostSignificantBits()) + half(halves.getLeastSignificantBits());
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};
