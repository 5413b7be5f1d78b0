//! Rows in columns that are as wide as what stands in them.

/// The lines of a table. The last column is not padded.
#[must_use]
pub(crate) fn table(heads: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let wide = |column: usize| {
        let cells = rows.iter().chain([&heads]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(wide).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    [&heads].into_iter().chain(rows).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_begin_below_each_other_whatever_their_letters() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let lines = table(&["ID", "NAME", "STATE"], &[row(["1", "Ägir", "live"]), row(["12", "b", ""])]);
        assert_eq!(lines, ["ID  NAME  STATE", "1   Ägir  live", "12  b"]);
        assert_eq!(table(&["ID"], &[]), ["ID"]);
    }
}
