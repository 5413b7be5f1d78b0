//! Tables of the pages in `docs/`, read by the tests that compare them with the code.

/// The rows below the header whose first cell is `first_cell`, each a list of cells without backticks.
/// Tables with the same header are joined.
///
/// # Panics
/// When the page has no such table: a check that reads nothing proves nothing.
#[must_use]
pub fn table(page: &str, first_cell: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let (mut inside, mut in_table) = (false, false);
    for line in page.lines() {
        let Some(row) = line.strip_prefix("| ").and_then(|rest| rest.strip_suffix('|')) else {
            in_table &= line.starts_with("|-");
            inside &= in_table;
            continue;
        };
        let cells: Vec<String> = row.split('|').map(|cell| cell.trim().replace('`', "")).collect();
        if inside {
            rows.push(cells);
        } else {
            // Only the first row of a table is a header.
            inside = !in_table && cells[0] == first_cell;
        }
        in_table = true;
    }
    assert!(!rows.is_empty(), "the page has no table `{first_cell}`");
    rows
}

/// The part of a page below the heading `heading`, up to the next heading of any depth.
///
/// # Panics
/// When the page has no such heading.
#[must_use]
pub fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let start = page
        .match_indices(heading)
        .find(|(at, _)| {
            let line = page[..*at].rsplit('\n').next().unwrap_or_default();
            line.starts_with('#') && page[at + heading.len()..].starts_with('\n')
        })
        .map(|(at, _)| at + heading.len() + 1);
    let start = start.unwrap_or_else(|| panic!("the page has no heading `{heading}`"));
    let rest = &page[start..];
    rest.find("\n#").map_or(rest, |end| &rest[..end])
}

/// What stands between backticks in running text and tables, code blocks left out.
#[must_use]
pub fn quoted(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}
