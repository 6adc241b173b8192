import { Group, NativeSelect, TextInput } from '@mantine/core';
import { PERIODS, type ReportPeriod } from '../../lib/report-period.ts';
import { timeZone } from '../../lib/times.ts';
import { t, wordFor } from '../../texts/index.ts';
import { useAddress, useSetAddress } from '../../ui/address.ts';

/** Period and time zone of a report. They are in the address, and only there. */
export const PeriodFields = ({ period: { name, from, to, timezone, fault } }: { readonly period: ReportPeriod }) => {
  const search = useAddress();
  const setAddress = useSetAddress();
  const set = (changes: Record<string, string>) => setAddress({ ...search, ...changes });
  const { from: _, to: __, ...others } = search;
  const error = fault === undefined ? undefined : wordFor(t.reports.faults, fault);
  const isOfPeriod = fault === 'unknown_period';
  const isOfTimezone = fault === 'unknown_timezone';
  return (
    <Group gap="sm" align="start" role="search" aria-label={t.reports.period}>
      <NativeSelect
        label={t.reports.period}
        value={name}
        error={isOfPeriod && error}
        data={choices([...PERIODS], name, t.reports.periods)}
        onChange={({ currentTarget: { value: chosen } }) =>
          setAddress(chosen === 'own' ? { ...others, period: chosen, from, to } : { ...others, period: chosen })
        }
      />
      {name === 'own' && (
        <>
          <TextInput
            type="date"
            label={t.list.from}
            value={from}
            onChange={({ currentTarget }) => set({ from: currentTarget.value })}
          />
          <TextInput
            type="date"
            label={t.list.to}
            value={to}
            error={!isOfTimezone && error}
            onChange={({ currentTarget }) => set({ to: currentTarget.value })}
          />
        </>
      )}
      <NativeSelect
        label={t.reports.timezone}
        value={timezone}
        error={isOfTimezone && error}
        data={choices([timeZone(), 'UTC', ...Intl.supportedValuesOf('timeZone')], timezone)}
        onChange={({ currentTarget }) => set({ timezone: currentTarget.value })}
      />
    </Group>
  );
};

/** Those that are offered, and that of the address. */
const choices = (offered: readonly string[], chosen: string, words: Readonly<Record<string, string>> = {}) =>
  [...new Set([...offered, chosen])].map((value) => ({ value, label: wordFor(words, value) }));
