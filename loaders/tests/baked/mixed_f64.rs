// Made from "mixed_tree.json" by `saltus bake`; change that and bake again.
#[allow(unused_imports)]
use saltus::{
    linalg::tree::{Link, Tree},
    model::{
        Actuator, Body, BodyId, Closure, ClosureKind, CollisionFilter, Dims, DofParameters, Frame, FrameId, Geometry,
        GeometryId, GeometryPair, Joint, Material, Model, Names, Range, Shape, Transmission,
    },
    mpc::MpcDims,
    nalgebra::{Matrix3, Vector3},
    spatial::{Inertia, Placement, Symmetric3},
    step::StepDims,
};

/// Bodies, configuration coordinates and degrees of freedom.
pub const DIMS: Dims = Dims::new(10, 25, 19);
/// What the memory of a step with room for `contacts` contact points is sized by.
#[allow(dead_code)]
pub const fn step_dims(contacts: usize) -> StepDims {
    StepDims {
        robot: DIMS,
        controls: 7,
        geometries: 0,
        closure_rows: 0,
        limits: 4,
        dry_frictions: 0,
        contacts,
    }
}

/// What the memory of an optimizer that looks `horizon` steps ahead is sized by, with room for `terms` terms in its cost.
#[allow(dead_code)]
pub const fn mpc_dims(contacts: usize, horizon: usize, terms: usize) -> MpcDims {
    MpcDims::new(step_dims(contacts), horizon, terms)
}

static BODIES: [Body<f64>; 10] = [
    Body { parent: BodyId::new(0), joint: Joint::Prismatic { axis: Vector3::new(-0.7265157857534824, -0.5832853412247124, 0.36325338782091365) }, placement: Placement::new(Matrix3::new(-0.44800621243678007, -0.8416212841209262, 0.30160246639027105, -0.8900371948158182, 0.38801055114553296, -0.23933575588308809, 0.08440512699143589, -0.3756613186294049, -0.9229053842204936), Vector3::new(-0.3731365260958264, 0.32892967379147153, -0.10578871115454812)), inertia: Inertia::new(3.787408745785536, Vector3::new(-0.3276054531713805, -0.3944382891594383, 0.21763868274773537), Symmetric3 { xx: 0.20615478249115127, xy: 0.005265364705069276, xz: -0.004942350683021625, yy: 0.1982512483867749, yz: -0.0022115713250097603, zz: 0.2051251690881839 }), first_q: 0, first_v: 0 },
    Body { parent: BodyId::new(1), joint: Joint::Revolute { axis: Vector3::new(0.29219075835656966, 0.43724153199244176, 0.8505553500107536) }, placement: Placement::new(Matrix3::new(0.2263679710388148, 0.03433496253492603, -0.973436516695103, -0.2799142003597766, 0.9595163143156124, -0.031248727960187753, 0.932955294815736, 0.27955241531760766, 0.2268146048326136), Vector3::new(0.04147903422059357, 0.2370833512850592, -0.2072436623270093)), inertia: Inertia::new(3.9606448723767302, Vector3::new(0.2771791406010527, -0.29193241751589655, -0.3991185012621448), Symmetric3 { xx: 0.1350048074580321, xy: -0.004496186685461052, xz: 0.00887197568485024, yy: 0.15591220154629526, yz: -0.006820915994302861, zz: 0.12606719742142375 }), first_q: 1, first_v: 1 },
    Body { parent: BodyId::new(1), joint: Joint::Continuous { axis: Vector3::new(1.0, 0.0, 0.0) }, placement: Placement::new(Matrix3::new(0.4193276679745317, -0.08437653450727925, -0.9039053641259038, 0.18939724284471465, 0.9818932179359112, -0.003793807359544557, 0.8878586550087018, -0.1696063353651716, 0.4277156762735448), Vector3::new(-0.34160060939205245, -0.23811628133198168, 0.35325852850912465)), inertia: Inertia::new(1.5668385159769491, Vector3::new(-0.057882031161504255, -0.2495467325095744, 0.11957691696837514), Symmetric3 { xx: 0.03408416772378115, xy: 0.002651492059479541, xz: -0.0024866066813628235, yy: 0.04834736744446013, yz: 0.0034791171154275693, zz: 0.034266790807469194 }), first_q: 2, first_v: 2 },
    Body { parent: BodyId::new(0), joint: Joint::Continuous { axis: Vector3::new(-0.41929920419555233, -0.6030987163748348, -0.6785721153038954) }, placement: Placement::new(Matrix3::new(-0.002760699809394973, -0.9843261465261776, -0.17633608763236336, -0.08191975384073136, -0.1755214618234735, 0.9810613489328917, -0.9966351049743514, 0.017153824771084514, -0.08015119355621936), Vector3::new(-0.26547450867492106, 0.3436771463740328, -0.2444425378057069)), inertia: Inertia::new(1.751173340952909, Vector3::new(-0.0515431801333488, 0.17293845188208523, 0.0614829636032071), Symmetric3 { xx: 0.04256045499786513, xy: -0.0059751189304907675, xz: 0.002291332717247469, yy: 0.04094205311903551, yz: -0.001347965519153473, zz: 0.029225372503605573 }), first_q: 4, first_v: 3 },
    Body { parent: BodyId::new(4), joint: Joint::Spherical, placement: Placement::new(Matrix3::new(0.05508890029794167, 0.9725025715270884, -0.22628292343251188, 0.7826609525072674, -0.1827817560401064, -0.5950064395276002, -0.6200056826226517, -0.14432455796604957, -0.771209034881934), Vector3::new(0.016535449270994818, -0.2817945852887893, 0.32124326925102276)), inertia: Inertia::new(3.047679056012545, Vector3::new(0.04003555278672505, 0.3283654884642, 0.266445975061812), Symmetric3 { xx: 0.0666607391159092, xy: -0.00554768769652404, xz: -0.0016684049995747633, yy: 0.0689092843835544, yz: -0.007578715324502325, zz: 0.05813643882797387 }), first_q: 6, first_v: 4 },
    Body { parent: BodyId::new(5), joint: Joint::Planar, placement: Placement::new(Matrix3::new(0.1946520521212619, 0.5022042730872696, 0.8425564946624464, 0.9734707523892724, -0.20423576893190276, -0.103162226281999, 0.12027166269593742, 0.8402848438367088, -0.5286360831145307), Vector3::new(-0.26478723693336115, 0.07463315639540591, -0.27614112175928024)), inertia: Inertia::new(2.611014997388734, Vector3::new(0.21782204234946576, -0.08686808805596456, 0.1698260932863976), Symmetric3 { xx: 0.06918806618477778, xy: -0.00036431019757868026, xz: 0.00583389806101319, yy: 0.05850809735065079, yz: -0.0005228067662463257, zz: 0.06271317034837402 }), first_q: 10, first_v: 7 },
    Body { parent: BodyId::new(6), joint: Joint::FreeFlyer, placement: Placement::new(Matrix3::new(-0.7037761564000502, 0.4332406005053231, 0.5630290434396421, -0.24276157828774023, -0.8914804206106526, 0.38253035928550655, 0.6676570510299555, 0.13253392675703995, 0.7325768358802663), Vector3::new(-0.07938641072586317, 0.2554941911590566, -0.010947274162408316)), inertia: Inertia::new(2.69290723919526, Vector3::new(0.26288558405593143, 0.2549692296542687, -0.2721453620824315), Symmetric3 { xx: 0.027898522152144847, xy: -0.013953331395939085, xz: -0.011959693932098269, yy: 0.035821791864129246, yz: -0.005438706526324454, zz: 0.04048312898355173 }), first_q: 14, first_v: 10 },
    Body { parent: BodyId::new(7), joint: Joint::Revolute { axis: Vector3::new(0.9992174223909488, 0.020825502743474247, -0.033627982780267913) }, placement: Placement::new(Matrix3::new(0.11976780517271211, -0.23788600030246793, 0.9638806584345414, 0.984082167580962, -0.09994729014960724, -0.1469449782772625, 0.13129341298506286, 0.9661370451710484, 0.2221289032406395), Vector3::new(0.08338534375763285, 0.3690333272198448, -0.3797938636906122)), inertia: Inertia::new(3.918220235071487, Vector3::new(-0.3674894276758939, 0.0911972410338758, -0.0002325662621059376), Symmetric3 { xx: 0.09338869850745464, xy: -0.0018877889400313944, xz: 0.021782035162579923, yy: 0.10966191342617784, yz: -0.0017032741516473482, zz: 0.08711620811489501 }), first_q: 21, first_v: 16 },
    Body { parent: BodyId::new(7), joint: Joint::Continuous { axis: Vector3::new(0.0, 1.0, 0.0) }, placement: Placement::new(Matrix3::new(0.5002315661968395, -0.49630633438760896, 0.7095409802308758, -0.3368841067337246, 0.6433213419595443, 0.6874930905904377, -0.797670031285166, -0.5829388247716103, 0.15461192632981646), Vector3::new(-0.26476375931720875, 0.08079418029736984, -0.0008324308604001907)), inertia: Inertia::new(3.7186812506068248, Vector3::new(0.07106154248454065, 0.24413341906011451, 0.2966441436841761), Symmetric3 { xx: 0.09981257894609216, xy: -0.02314316060970347, xz: 0.0028292578567735635, yy: 0.0868586175527816, yz: -0.007510621119798623, zz: 0.11427900497940872 }), first_q: 22, first_v: 17 },
    Body { parent: BodyId::new(9), joint: Joint::Prismatic { axis: Vector3::new(0.037630574258768555, 0.5703340593155793, 0.820550425425256) }, placement: Placement::new(Matrix3::new(0.7044764919183906, -0.7096205075999925, 0.012312900872116228, -0.4612860774471016, -0.44461970257464634, 0.7678075766986797, -0.5393774439924459, -0.54658215784634, -0.6405621887344068), Vector3::new(0.02942287543372163, 0.07144730160965923, -0.20520912147045403)), inertia: Inertia::new(3.180357466766515, Vector3::new(0.38646605518317345, 0.3261301317719102, -0.020092216197016732), Symmetric3 { xx: 0.0998832598578438, xy: -0.01039811246388274, xz: 0.02321589644908338, yy: 0.09611949130782996, yz: -0.022776386143014575, zz: 0.07859886677382039 }), first_q: 24, first_v: 18 },
];
static DOFS: [DofParameters<f64>; 19] = [
    DofParameters { armature: 0.1005691312979274, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: 8.0, effort_limit: 40.0 },
    DofParameters { armature: 0.2558883929726227, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: 8.0, effort_limit: 40.0 },
    DofParameters { armature: 0.2092447004748888, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.1476356352117821, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.2188202557639169, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.20422370111192217, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.04002874571612649, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.18056475200797373, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.07599444466254099, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.08937326669921691, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.1766221992328173, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.19592135874285668, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.1628544833115865, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.19103885207404483, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.21999155683599328, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.296777531796404, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.16789828722718578, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: 8.0, effort_limit: 40.0 },
    DofParameters { armature: 0.08290368604325365, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f64::INFINITY, effort_limit: f64::INFINITY },
    DofParameters { armature: 0.07303934195738017, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: 8.0, effort_limit: 40.0 },
];
static POSITION_LIMITS: [Range<f64>; 25] = [
    Range::new(-0.5, 0.8),
    Range::new(-1.2, 2.1),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(-0.7, 0.7),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(f64::NEG_INFINITY, f64::INFINITY),
    Range::new(-0.3, 0.3),
];
static FRAMES: [Frame<f64>; 3] = [
    Frame { body: BodyId::new(10), placement: Placement::new(Matrix3::new(-0.8694892147470028, 0.2402774219497408, 0.4315730134517523, 0.3386178273321046, -0.34615840706344914, 0.8749356114778849, 0.35961989996595733, 0.9068853939282964, 0.21961878295809123), Vector3::new(-0.10384885471526728, -0.1034995449149264, 0.3111005300883595)) },
    Frame { body: BodyId::new(8), placement: Placement::new(Matrix3::new(-0.8353579891234189, -0.4531096880821284, -0.3112372737539566, -0.12619253237332825, 0.7091370139731517, -0.6936859088856057, 0.5350256767491497, -0.5402002461859478, -0.6495623289875705), Vector3::new(0.03663584235570516, 0.153642674672684, -0.1449680022383807)) },
    Frame { body: BodyId::new(5), placement: Placement::new(Matrix3::new(-0.28667359001233716, -0.6495209490681532, -0.7042306365893516, 0.8449006992049496, -0.5179303351381024, 0.13375715467487873, -0.45162048367232543, -0.556660313535407, 0.6972576525662785), Vector3::new(0.25284962435674085, 0.17847233767491866, 0.12327493957801772)) },
];
static GEOMETRIES: [Geometry<f64>; 0] = [
];
static VERTICES: [Vector3<f64>; 0] = [
];
static PAIRS: [GeometryPair<f64>; 0] = [
];
static CLOSURES: [Closure<f64>; 0] = [
];
static ACTUATORS: [Actuator<f64>; 7] = [
    Actuator { transmission: Transmission::Joint { dof: 0, gear: 1.0 }, gain: 1.0, bias: [0.0, 0.0, 0.0], control_range: Range::new(-40.0, 40.0), force_range: Range::new(-40.0, 40.0) },
    Actuator { transmission: Transmission::Joint { dof: 1, gear: 1.0 }, gain: 1.0, bias: [0.0, 0.0, 0.0], control_range: Range::new(-40.0, 40.0), force_range: Range::new(-40.0, 40.0) },
    Actuator { transmission: Transmission::Joint { dof: 2, gear: 1.0 }, gain: 1.0, bias: [0.0, 0.0, 0.0], control_range: Range::new(f64::NEG_INFINITY, f64::INFINITY), force_range: Range::new(f64::NEG_INFINITY, f64::INFINITY) },
    Actuator { transmission: Transmission::Joint { dof: 3, gear: 1.0 }, gain: 1.0, bias: [0.0, 0.0, 0.0], control_range: Range::new(f64::NEG_INFINITY, f64::INFINITY), force_range: Range::new(f64::NEG_INFINITY, f64::INFINITY) },
    Actuator { transmission: Transmission::Joint { dof: 16, gear: 1.0 }, gain: 1.0, bias: [0.0, 0.0, 0.0], control_range: Range::new(-40.0, 40.0), force_range: Range::new(-40.0, 40.0) },
    Actuator { transmission: Transmission::Joint { dof: 17, gear: 1.0 }, gain: 1.0, bias: [0.0, 0.0, 0.0], control_range: Range::new(f64::NEG_INFINITY, f64::INFINITY), force_range: Range::new(f64::NEG_INFINITY, f64::INFINITY) },
    Actuator { transmission: Transmission::Joint { dof: 18, gear: 1.0 }, gain: 1.0, bias: [0.0, 0.0, 0.0], control_range: Range::new(-40.0, 40.0), force_range: Range::new(-40.0, 40.0) },
];
static KEYFRAMES: [f64; 0] = [
];
static LINKS: [Link; 19] = [
    Link { parent: 65535, run_start: 0, subtree_end: 3 },
    Link { parent: 0, run_start: 0, subtree_end: 2 },
    Link { parent: 0, run_start: 2, subtree_end: 3 },
    Link { parent: 65535, run_start: 3, subtree_end: 19 },
    Link { parent: 3, run_start: 3, subtree_end: 19 },
    Link { parent: 4, run_start: 3, subtree_end: 19 },
    Link { parent: 5, run_start: 3, subtree_end: 19 },
    Link { parent: 6, run_start: 3, subtree_end: 19 },
    Link { parent: 7, run_start: 3, subtree_end: 19 },
    Link { parent: 8, run_start: 3, subtree_end: 19 },
    Link { parent: 9, run_start: 3, subtree_end: 19 },
    Link { parent: 10, run_start: 3, subtree_end: 19 },
    Link { parent: 11, run_start: 3, subtree_end: 19 },
    Link { parent: 12, run_start: 3, subtree_end: 19 },
    Link { parent: 13, run_start: 3, subtree_end: 19 },
    Link { parent: 14, run_start: 3, subtree_end: 19 },
    Link { parent: 15, run_start: 3, subtree_end: 17 },
    Link { parent: 15, run_start: 17, subtree_end: 19 },
    Link { parent: 17, run_start: 17, subtree_end: 19 },
];
static NAME_ENDS: [u32; 30] = [
    6,
    11,
    18,
    24,
    32,
    40,
    45,
    49,
    54,
    60,
    66,
    71,
    78,
    84,
    92,
    100,
    105,
    109,
    114,
    120,
    130,
    139,
    153,
    159,
    164,
    171,
    177,
    181,
    186,
    192,
];
/// The robot.
pub static MODEL: Model<'static, f64> = Model {
    bodies: &BODIES,
    dofs: &DOFS,
    position_limits: &POSITION_LIMITS,
    frames: &FRAMES,
    tree: Tree(&LINKS),
    geometries: &GEOMETRIES,
    vertices: &VERTICES,
    pairs: &PAIRS,
    closures: &CLOSURES,
    actuators: &ACTUATORS,
    keyframes: &KEYFRAMES,
    gravity: Vector3::new(0.0, 0.0, -9.81),
    names: Names { text: "sliderelbowspinnerturretshouldercarriagedroneflapwheelpistonsliderelbowspinnerturretshouldercarriagedroneflapwheelpistonpiston_tipflap_edgeshoulder_mountsliderelbowspinnerturretflapwheelpiston", ends: &NAME_ENDS },
};
