import { placeOf, readEvent, type RecordedEvent } from './recorded-event.ts';

/** Compares an export with an earlier one that was kept elsewhere, event by event. It finds a change of `recorded_at`,
 *  which no hash covers, and names the events of a log that was cut or rewritten. */
export const earlierExport = async (lines: AsyncIterable<string> | Iterable<string>) => {
  /** The events of the earlier export that were not compared yet, by place. */
  const waiting = new Map<string, { readonly hash: string; readonly recordedAt: string | undefined }>();
  const found: { readonly place: string; readonly what: string }[] = [];
  let number = 0;
  for await (const line of lines) {
    number += 1;
    const event = readEvent(line);
    if (event) waiting.set(placeOf(event), { hash: event.hash, recordedAt: event.recorded_at });
    else found.push({ place: `line ${number}`, what: 'of the earlier export is not a recorded event' });
  }

  return {
    compare: (event: RecordedEvent): void => {
      const place = placeOf(event);
      const earlier = waiting.get(place);
      if (!earlier) return;
      waiting.delete(place);
      if (earlier.hash !== event.hash) found.push({ place, what: 'has another hash in the earlier export' });
      else if (earlier.recordedAt !== event.recorded_at)
        found.push({ place, what: `was recorded at ${earlier.recordedAt} in the earlier export` });
    },
    /** Adds what was found at places that no other finding names. */
    end: (isDeleted: (stream: string) => boolean, findings: string[]): void => {
      for (const place of waiting.keys())
        if (!isDeleted(place.slice(place.indexOf('@') + 1)))
          found.push({ place, what: 'was removed: the earlier export has it' });
      const named = new Set(findings.map((finding) => finding.split(' ')[0]));
      for (const { place, what } of found) if (!named.has(place)) findings.push(`${place} ${what}`);
    },
  };
};
