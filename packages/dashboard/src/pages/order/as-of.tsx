import { Paper, Slider, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { formatTime } from '../../lib/times.ts';
import { type Entry, instantsOf } from '../../lib/timeline.ts';
import { locale, t } from '../../texts/index.ts';
import { useSetAddress } from '../../ui/address.ts';

interface AsOfProps {
  readonly entries: readonly Entry[];
  readonly at: string | undefined;
}

/** Moves through the history: each step is an instant at which something was recorded, the last one is now. */
export const AsOf = ({ entries, at }: AsOfProps) => {
  const instants = instantsOf(entries);
  const setAddress = useSetAddress();
  const now = instants.length;
  const shown =
    at === undefined
      ? now
      : Math.max(
          0,
          instants.findLastIndex((instant) => instant <= at),
        );
  const [step, setStep] = useState(shown);
  useEffect(() => setStep(shown), [shown]);
  const name = (index: number) => (index >= now ? t.history.now : formatTime(instants[index]!, locale));
  return (
    <Paper withBorder px="md" pt="sm" pb="lg">
      <Text size="sm" mb="xs">
        {t.history.asOf} <b>{name(step)}</b>
      </Text>
      <Slider
        min={0}
        max={now}
        value={step}
        onChange={setStep}
        onChangeEnd={(index) => setAddress(index >= now ? {} : { at: instants[index]! })}
        marks={[...instants, ''].map((_, value) => ({ value }))}
        restrictToMarks
        label={null}
        thumbLabel={t.history.slider}
        thumbProps={{ 'aria-valuetext': name(step) }}
        color="grape"
      />
    </Paper>
  );
};
