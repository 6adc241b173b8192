import { Button, Group, MultiSelect, NativeSelect, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import {
  activeFilters,
  dayOf,
  endOfDay,
  type ListName,
  listSearch,
  rangeOf,
  startOfDay,
  timeIn,
  withFilter,
  withRangeMoved,
} from '../lib/filters.ts';
import { type Search, valueOf, valuesOf } from '../lib/search-params.ts';
import { t, wordFor } from '../texts/index.ts';
import { useAddress, useSetAddress } from './address.ts';

/** A field that filters a list, by the name of its parameter. */
export type Field =
  | { readonly kind: 'search'; readonly name: string; readonly label: string; readonly hint: string }
  | { readonly kind: 'text'; readonly name: string; readonly label: string }
  | {
      readonly kind: 'several' | 'one';
      readonly name: string;
      readonly label: string;
      readonly words: Readonly<Record<string, string>>;
      /** Shown while nothing is chosen of several. By default, any status. */
      readonly any?: string;
      /** Of the field, in pixels. Give it when the words load later: they would move what is below. */
      readonly width?: number;
    }
  | { readonly kind: 'from' | 'to'; readonly name: string; readonly label: string }
  | {
      /** From and to for one of several times, `created` among them, with their words. */
      readonly kind: 'range';
      readonly name: string;
      readonly label: string;
      readonly times: Readonly<Record<string, string>>;
    };

interface ListFiltersProps {
  readonly list: ListName;
  readonly fields: readonly Field[];
}

/** The filters of a list. They are in the address, and only there. */
export const ListFilters = ({ list, fields }: ListFiltersProps) => {
  const search = listSearch(list, useAddress());
  const setAddress = useSetAddress();
  const active = activeFilters(list, search);
  const names = new Set(fields.flatMap((field) => (field.kind === 'range' ? rangeShown(field, search) : field.name)));
  const others = Object.entries(active).filter(([name]) => !names.has(name));
  const set = (name: string, value: string | readonly string[] | undefined) =>
    setAddress(withFilter(search, { [name]: value }));
  return (
    <Group gap="sm" align="end" className="filters" role="search" aria-label={t.list.filteredBy}>
      {fields.map((field) =>
        field.kind === 'range' ? (
          <RangeFilter key={field.name} field={field} search={search} onChange={setAddress} />
        ) : (
          <FilterField
            key={field.name}
            field={field}
            values={valuesOf(search, field.name)}
            onChange={(value) => set(field.name, value)}
          />
        ),
      )}
      {others.map(([name, value]) => (
        <Button
          key={name}
          variant="light"
          size="sm"
          aria-label={t.list.remove(name)}
          onClick={() => set(name, undefined)}
        >
          {name}: {[value].flat().join(', ')} ✕
        </Button>
      ))}
      {Object.keys(active).length > 0 && (
        <Button variant="subtle" size="sm" onClick={() => setAddress({})}>
          {t.list.clearAll}
        </Button>
      )}
    </Group>
  );
};

type RangeField = Extract<Field, { kind: 'range' }>;

/** The parameters that the fields of a range show. An address may have more ranges. */
const rangeShown = ({ times }: RangeField, search: Search): readonly string[] => {
  const time = timeIn(search, Object.keys(times));
  return time === undefined ? [] : rangeOf(time);
};

interface RangeFilterProps {
  readonly field: RangeField;
  readonly search: Search;
  readonly onChange: (search: Search) => void;
}

const RangeFilter = ({ field: { label, times }, search, onChange }: RangeFilterProps) => {
  const [chosen, setChosen] = useState('created');
  const time = timeIn(search, Object.keys(times)) ?? chosen;
  const [from, to] = rangeOf(time);
  return (
    <>
      <NativeSelect
        label={label}
        value={time}
        data={choices(times, [])}
        onChange={({ currentTarget }) => {
          setChosen(currentTarget.value);
          onChange(withRangeMoved(search, time, currentTarget.value));
        }}
      />
      {([from, to] as const).map((name) => (
        <FilterField
          key={name}
          field={{ kind: name === from ? 'from' : 'to', name, label: name === from ? t.list.from : t.list.to }}
          values={valuesOf(search, name)}
          onChange={(value) => onChange(withFilter(search, { [name]: value }))}
        />
      ))}
    </>
  );
};

interface FilterFieldProps {
  readonly field: Exclude<Field, RangeField>;
  readonly values: readonly string[];
  readonly onChange: (value: string | readonly string[] | undefined) => void;
}

const FilterField = ({ field, values, onChange }: FilterFieldProps) => {
  const [value = ''] = values;
  switch (field.kind) {
    case 'search':
      return <TextFilter {...field} value={value} onChange={onChange} isSearch />;
    case 'text':
      return <TextFilter {...field} value={value} onChange={onChange} />;
    case 'several':
      return (
        <MultiSelect
          label={field.label}
          placeholder={values.length === 0 ? (field.any ?? t.list.anyStatus) : ''}
          data={choices(field.words, values)}
          value={[...values]}
          onChange={onChange}
          miw={200}
          maw={420}
          clearable
          clearButtonProps={{ 'aria-label': t.list.remove(field.label) }}
        />
      );
    case 'one':
      return (
        <NativeSelect
          label={field.label}
          value={value}
          w={field.width}
          onChange={(event) => onChange(event.currentTarget.value)}
          data={[{ value: '', label: '–' }, ...choices(field.words, values)]}
        />
      );
    case 'from':
    case 'to':
      return (
        <TextInput
          type="date"
          label={field.label}
          value={dayOf(value)}
          error={value !== '' && dayOf(value) === '' ? value : undefined}
          onChange={(event) => onChange((field.kind === 'from' ? startOfDay : endOfDay)(event.currentTarget.value))}
        />
      );
  }
};

/** The values that this version knows, and those of the address. */
const choices = (words: Readonly<Record<string, string>>, values: readonly string[]) =>
  [...new Set([...Object.keys(words), ...values])].map((value) => ({ value, label: wordFor(words, value) }));

interface TextFilterProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly isSearch?: boolean;
  readonly onChange: (value: string) => void;
}

const PAUSE_MS = 500;

/** Filters when the typing pauses, or at once by Enter. */
const TextFilter = ({ label, hint, value, isSearch = false, onChange }: TextFilterProps) => {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const wantsFocus = valueOf(useAddress(), 'focus') === 'search';
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (next: string) => {
    clearTimeout(timer.current);
    if (next.trim() !== value) onChange(next.trim());
  };
  return (
    <TextInput
      type={isSearch ? 'search' : 'text'}
      label={label}
      placeholder={hint}
      value={text}
      flex={isSearch ? '1 1 20rem' : undefined}
      autoFocus={isSearch && wantsFocus}
      autoComplete="off"
      spellCheck={false}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        clearTimeout(timer.current);
        timer.current = setTimeout(apply, PAUSE_MS, currentTarget.value);
      }}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && apply(currentTarget.value)}
    />
  );
};
