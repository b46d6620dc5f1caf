/** The list that a page shows, for readers of feeds. */

const ATOM = "application/atom+xml";

/** A link to it, and one in the document's head by which browsers and readers find it. */
export function FeedLink({ path, title }: { path: string; title: string }) {
  return (
    <>
      <link rel="alternate" type={ATOM} title={title} href={path} />
      <a className="button" href={path} type={ATOM} title={`${title}, as Atom`}>
        Feed
      </a>
    </>
  );
}
