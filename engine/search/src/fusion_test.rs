use super::*;

fn fusion(config: FusionConfig) -> Fusion {
    Fusion::new(&config)
}

#[test]
fn the_parts_are_weighed_as_declared_and_clamped() {
    for (asked, weight) in [(0.55, 0.55), (0.0, 0.20), (1.0, 0.70), (f32::NAN, 0.55)] {
        let fusion = fusion(FusionConfig { semantic_weight: asked, ..FusionConfig::default() });
        assert_eq!(fusion.weight(false), weight);
        assert_eq!(fusion.weight(true), 0.70);
    }
    let fusion = fusion(FusionConfig::default());
    assert!((fusion.score(0.55, 1.0, 1.0, 1.0) - 1.0).abs() < 1e-6);
    assert!((fusion.score(0.55, 0.5, 0.2, 0.0) - 0.345).abs() < 1e-6);
}

#[test]
fn legacy_weighs_the_same_whatever_was_asked() {
    let fusion =
        fusion(FusionConfig { mode: FusionMode::Legacy, semantic_weight: 0.2, ..FusionConfig::default() });
    assert_eq!((fusion.weight(false), fusion.weight(true)), (0.55, 0.55));
}

#[test]
fn the_floor_becomes_one_half_and_the_gate_is_exclusive() {
    let plain = fusion(FusionConfig::default());
    assert_eq!((plain.semantic(-1.0), plain.semantic(0.0), plain.semantic(1.0)), (0.0, 0.5, 1.0));
    let floored = fusion(FusionConfig { floor: 0.6, gate: Gate::At(0.5), ..FusionConfig::default() });
    assert_eq!((floored.semantic(0.6), floored.semantic(1.0), floored.semantic(-1.0)), (0.5, 1.0, 0.0));
    assert!(!floored.admits(0.5) && floored.admits(0.501));
    assert!(!fusion(FusionConfig { gate: Gate::Off, ..FusionConfig::default() }).admits(1.0));
}
