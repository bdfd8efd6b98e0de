/** A titled part of the fleet's page, and a table in it that scrolls by itself. */
import type { ComponentChildren } from 'preact'

export const Panel = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="panel fleet" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
)

/** A head that begins with # is one of numbers. */
export const Table = ({ head, children }: { head: readonly string[]; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
  <section class="scroll" tabIndex={0} aria-label={`Table: ${head.join(', ').replaceAll('#', '')}`}>
    <table class="stats">
      <thead>
        <tr>
          {head.map((name) => (
            <th scope="col" key={name} class={name.startsWith('#') ? 'num' : ''}>
              {name.replace('#', '')}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
)
