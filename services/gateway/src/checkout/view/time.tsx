import type { Format } from './format.ts';

interface TimeProps {
  readonly at: string;
  readonly format: Format;
}

/** An instant in UTC. The script shows it in the payer's time zone. */
export const Time = ({ at, format }: TimeProps) => <time datetime={at}>{format.dateTime(at)}</time>;

/** A text around an instant. */
export const TextWithTime = ({ text, ...time }: TimeProps & { readonly text: (time: string) => string }) => {
  const [before, after] = text('{time}').split('{time}');
  return (
    <>
      {before}
      <Time {...time} />
      {after}
    </>
  );
};
