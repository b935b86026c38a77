using Snapper.Testing.Serializability;

namespace Snapper.Testing.Tests.Serializability;

/// <summary>Small histories and the verdicts they deserve, one for each name in the literature and for each trap in judging them.</summary>
public sealed record TextbookHistory(string Name, string Text, params AnomalyKind[] Expected)
{
    public static readonly TextbookHistory[] All =
    [
        new("nothing happened", ""),
        new("one after the other", """
            t1 0..1: append x 1; append y 1
            t2 2..3: read x [1]; append x 2; read x [1 2]
            t3 4..5: read x [1 2]; read y [1]
            """),
        new("concurrent, so either order will do", """
            t1 0..9: append x 1
            t2 0..9: read x []
            t3 0..9: append x 2; read x [1 2]
            """),
        new("completion and invocation at the same instant order nothing", """
            t1 0..5: append x 1
            t2 5..9: read x []
            t3 6..9: read x [1]
            """),
        new("a read that nobody overwrites, own append never read by others", """
            t1 0..1: read x []; append x 1
            t2 2..3: read y []; append y 1; append y 2
            """),
        new("aborted appends that nobody saw", """
            t1 0..1 aborted: append x 1; read x
            t2 2..3: read x []
            """),
        new("an unknown outcome that nobody saw", """
            t1 0.. unknown: append x 1
            t2 2..3: read x []
            """),
        new("an unknown outcome that took effect long after", """
            t1 0..1 unknown: append x 1; append y 1
            t2 2..3: read x []
            t3 4..5: read x [1]; read y [1]
            """),
        new("parallel operations see any part of their own appends", """
            t1 0..1: append x 1
            t2 2..3 parallel: append x 2; append x 3; read x [1 3]; append y 1; read y []
            t4 4..5: read x [1 3 2]; read y [1]
            """),
        new("three unseen appends behind one read, all concurrent", """
            t1 0..9: append x 1
            t2 0..9: append x 2
            t3 0..9: append x 3
            t4 0..9: read x []
            """),

        new("dirty read (G1a)", """
            t1 0..9 aborted: append x 1
            t2 0..9: read x [1]
            """, AnomalyKind.AbortedRead),
        new("intermediate read (G1b)", """
            t1 0..9: append x 1; append x 2
            t2 0..9: read x [1]
            t3 10..11: read x [1 2]
            """, AnomalyKind.IntermediateRead, AnomalyKind.GSingle),
        new("element that nobody appended", """
            t1 0..9: append x 1
            t2 0..9: read x [1 7]
            """, AnomalyKind.PhantomAppend),
        new("append that took effect twice", """
            t1 0..1: append x 1
            t2 2..3: read x [1 1]
            """, AnomalyKind.DuplicateAppend),
        new("append that took effect twice, apart", """
            t1 0..1: append x 1
            t2 2..3: append x 2
            t3 4..5: read x [1 2 1]
            """, AnomalyKind.DuplicateAppend),
        new("duplicate in one read only", """
            t1 0..1: append x 1
            t2 2..3: append x 2
            t3 4..5: read x [1 2]
            t4 6..7: read x [1 1 2]
            """, AnomalyKind.IncompatibleOrder, AnomalyKind.DuplicateAppend),
        new("acknowledged append that nobody finds", """
            t1 0..1: append x 1
            t2 2..3: append x 2
            t3 4..5: read x [1]
            """, AnomalyKind.LostAppend),
        new("lists that fork", """
            t1 0..9: append x 1
            t2 0..9: append x 2
            t3 0..9: read x [1 2]
            t4 0..9: read x [2 1]
            """, AnomalyKind.IncompatibleOrder),
        new("own append not seen", """
            t1 0..1: append x 1; read x []
            """, AnomalyKind.Internal),
        new("own append seen before it was made", """
            t1 0..1: read x [1]; append x 1
            """, AnomalyKind.Internal),
        new("two reads of one transaction differ", """
            t1 0..9: append x 1
            t2 0..9: read x []; read x [1]
            """, AnomalyKind.Internal, AnomalyKind.GSingle),
        new("own appends in the wrong order", """
            t1 0..9: append x 1; append x 2; read x [2 1]
            """, AnomalyKind.Internal),
        new("own appends in the wrong order, as others see them", """
            t1 0..1: append x 1; append x 2
            t2 2..3: read x [2 1]
            """, AnomalyKind.Internal),
        new("the first of two own appends is missing", """
            t1 0..9: append x 1; append x 2
            t2 0..9: read x [2]
            """, AnomalyKind.Internal, AnomalyKind.IntermediateRead, AnomalyKind.GSingle),

        new("write cycle (G0)", """
            t1 0..9: append x 1; append y 1
            t2 0..9: append x 2; append y 2
            t3 10..11: read x [1 2]; read y [2 1]
            """, AnomalyKind.G0),
        new("appends of one transaction with another's between them (G0)", """
            t1 0..9: append x 1; append x 3
            t2 0..9: append x 2
            t3 10..11: read x [1 2 3]
            """, AnomalyKind.G0),
        new("circular information flow (G1c)", """
            t1 0..9: append x 1; read y [1]
            t2 0..9: append y 1; read x [1]
            """, AnomalyKind.G1c),
        new("read skew (G-single)", """
            t1 0..9: append x 1; append y 1
            t2 0..9: read x [1]; read y []
            """, AnomalyKind.GSingle),
        new("lost update (G-single)", """
            t1 0..9: read x []; append x 1
            t2 0..9: read x []; append x 2
            t3 10..11: read x [1 2]
            """, AnomalyKind.GSingle),
        new("lost update whose appends nobody reads (G2)", """
            t1 0..9: read x []; append x 1
            t2 0..9: read x []; append x 2
            """, AnomalyKind.G2),
        new("lost update of three, nobody reads (G2)", """
            t1 0..9: read x []; append x 1
            t2 0..9: append x 2
            t3 0..9: read x []; append x 3
            """, AnomalyKind.G2),
        new("write skew (G2)", """
            t1 0..9: read x []; append y 1
            t2 0..9: read y []; append x 1
            t3 10..11: read x [1]; read y [1]
            """, AnomalyKind.G2),
        new("long fork: two readers see two writers in opposite orders (G2)", """
            t1 0..9: append x 1
            t2 0..9: append y 1
            t3 0..9: read x [1]; read y []
            t4 0..9: read x []; read y [1]
            """, AnomalyKind.G2),
        new("fractured effect of an unknown transaction that somebody saw", """
            t1 0.. unknown: append x 1; append y 1
            t2 2..3: read x [1]; read y []
            """, AnomalyKind.GSingle),
        new("read-only transaction anomaly (Fekete): a batch report that misses a late deposit (G2)", """
            deposit 0..9: read savings []; append savings 1
            withdraw 0..9: read savings []; read checking []; append checking 1
            report 0..9: read savings [1]; read checking []
            after 10..11: read savings [1]; read checking [1]
            """, AnomalyKind.G2),

        new("versions against real time (G0-realtime)", """
            t1 0..1: append x 1
            t2 2..3: append x 2
            t3 4..5: read x [2 1]
            """, AnomalyKind.G0RealTime),
        new("read of the future (G1c-realtime)", """
            t1 0..1: read x [1]
            t2 2..3: append x 1
            """, AnomalyKind.G1cRealTime),
        new("stale read (G-single-realtime)", """
            t1 0..1: append x 1
            t2 2..3: read x []
            t3 2..9: read x [1]
            """, AnomalyKind.GSingleRealTime),
        new("stale read through a chain of other keys and acknowledgements", """
            t1 0..1: append x 1
            t2 2..3: append y 1
            t3 4..5: read y [1]; append z 1
            t4 6..7: read z [1]; read x []
            t5 8..9: read x [1]
            """, AnomalyKind.GSingleRealTime),
        new("two anti-dependencies in a row, then real time (G2-realtime)", """
            t1 6..9: read x []
            t2 0..9: append x 1; read y []
            t3 0..5: append y 1
            t4 10..11: read x [1]; read y [1]
            """, AnomalyKind.G2RealTime),
        new("monotonic reads broken between clients", """
            t1 0..99: append x 1
            t2 1..2: read x [1]
            t3 3..4: read x []
            """, AnomalyKind.GSingleRealTime),
        new("unknown transactions take effect after their invocation, not before", """
            t1 0..1: read x [1]
            t2 2.. unknown: append x 1
            """, AnomalyKind.G1cRealTime),
    ];

    public override string ToString() => Name;
}
